/* One spelling for both: the book writes British English, most of its field American.

   `british` folds words as the search compares them (lower case, without accents); `spellings` has each way
   to write one word, for the marks on a page. Endings that are regular are rules. The rest is lists, since
   -our and -or, -re and -er, -ll- and -l- are endings of different words as well: four, our, laboratory,
   parameter, enter, filing. */
(() => {
  "use strict";

  const OUR = "arm|behavi|cand|col|discol|endeav|fav|flav|glam|harb|hon|hum|lab|misbehavi|neighb|od|parl|rig|rum|sav|tum|vap|vig";
  const TRE = "(?:epi|re)?cen|(?:centi|kilo|milli|nano)?me|li|lus|spec|thea";
  const DOUBLED = "cance|channe|dia|equa|fue|(?:mis|re|un)?labe|leve|marve|(?:re)?mode|quarre|signa|spira|tota|trave|tunne";
  const OTHERS = {
    analog: "analogue", artifact: "artefact", catalog: "catalogue", defense: "defence", dialog: "dialogue",
    fiber: "fibre", gray: "grey", judgment: "judgement", maneuver: "manoeuvre", skeptic: "sceptic",
  };
  const turned = Object.fromEntries(Object.entries(OTHERS).map(([there, here]) => [here, there]));
  const word = (names) => new RegExp(`\\b(${Object.keys(names).join("|")})(?=s?\\b)`, "g");

  /* -ize and -yze: at least three letters before, so that a size, a prize and whoever seizes stay. */
  const BRITISH = [
    [/\b([a-z]{3,}i|[a-z]+ly)z(?=[eai]|\b)/g, "$1s"],
    [new RegExp(`\\b(${OUR})or(?!a[dt])`, "g"), "$1our"],
    [new RegExp(`\\b(${TRE})ter(?=s?\\b)`, "g"), "$1tre"],
    [new RegExp(`\\b(${TRE})ter(?=ed\\b|ing\\b)`, "g"), "$1tr"],
    [new RegExp(`\\b(${DOUBLED})l(?=ed\\b|ing\\b|ings\\b|ers?\\b)`, "g"), "$1ll"],
    [word(OTHERS), (found) => OTHERS[found]],
  ];
  const AMERICAN = [
    [/\b([a-z]{3,}i|[a-z]+ly)s(?=[eai]|\b)/g, "$1z"],
    [new RegExp(`\\b(${OUR})our`, "g"), "$1or"],
    [new RegExp(`\\b(${TRE})tre(?=s?\\b)`, "g"), "$1ter"],
    [new RegExp(`\\b(${TRE})tr(?=ed\\b|ing\\b)`, "g"), "$1ter"],
    [new RegExp(`\\b(${DOUBLED})ll(?=ed\\b|ing\\b|ings\\b|ers?\\b)`, "g"), "$1l"],
    [word(turned), (found) => turned[found]],
  ];
  const put = (text, rules) => rules.reduce((all, [from, to]) => all.replace(from, to), text);

  const british = (text) => put(text, BRITISH);
  const spellings = (one) => [...new Set([one, british(one), put(british(one), AMERICAN)])];
  window.bookSpelling = { british, spellings };
})();
