"""The fixed words of the language: operators, relations, functions, environments."""

from __future__ import annotations

from .tokenizer import word_set as _set
from .tree import INFIX

OPERATORS = {
    "+": "PLUS", "-": "MINUS", "\\cdot": "TIMES", "\\times": "TIMES", "/": "DIV",
    "!": "FACTORIAL", **dict.fromkeys(INFIX, "INFIX"),
}  # fmt: skip
SIGNS = frozenset({"+", "-"})
RELATIONS = _set(
    r"= := \approx \le \ge < > \propto \succeq \preceq \succ \prec \sim \triangleq \equiv \ne "
    r"\simeq \in \to \mapsto"
)
RANGES = {"=": "EQ", "\\in": "IN", "\\ne": "NE", "<": "LT", "\\le": "LE", "\\to": "TENDS"}
FUNCTIONS = {
    "\\log": "log", "\\ln": "log", "\\exp": "exp", "\\cos": "cos", "\\sin": "sin", "\\tan": "tan",
    "\\tanh": "tanh", "\\sinh": "sinh", "\\cosh": "cosh", "\\arccos": "arccos",
    "\\arcsin": "arcsin", "\\arctan": "arctan", "\\det": "det", "\\min": "min", "\\max": "max",
    "\\mathrm{tr}": "tr", "\\mathrm{Tr}": "tr", "\\mathrm{trace}": "tr", "\\mathrm{diag}": "diag",
    "\\mathrm{Diag}": "diag", "\\mathrm{rank}": "rank", "\\mathrm{sign}": "sign",
    "\\mathrm{sgn}": "sign", "\\mathrm{log}": "log", "\\mathrm{exp}": "exp",
    "\\mathrm{det}": "det", "\\mathrm{min}": "min", "\\mathrm{max}": "max",
    "\\sec": "sec", "\\csc": "csc", "\\cot": "cot", "\\coth": "coth", "\\mathrm{cosec}": "csc",
    "\\mathrm{sech}": "sech", "\\mathrm{csch}": "csch", "\\mathrm{cosech}": "csch",
    **{
        f"\\mathrm{{{prefix}{word}}}": f"arc{word}"
        for prefix, words in {
            "arc": "cos sin tan sec csc cot sinh cosh tanh sech csch coth",
            "ar": "sinh cosh tanh sech csch coth",
        }.items()
        for word in words.split()
    },
    "\\Re": "Re", "\\Im": "Im", "\\arg": "arg", "\\mathrm{Re}": "Re", "\\mathrm{Im}": "Im",
    "\\mathrm{arg}": "arg", "\\mathrm{ph}": "arg",
}  # fmt: skip
# Of `\sin^{-1}`, which everyone reads as the inverse function and not as the reciprocal.
INVERSES = {
    word: f"arc{word}"
    for word in _set(r"cos sin tan sec csc cot cosh sinh tanh sech csch coth")
}  # fmt: skip
# Behind their brackets: everyone reads `\\cos(x)^2` as the square of the cosine.
AMBIGUOUS_POWERS = _set(r"log tr")
AMBIGUOUS_INVERSES = AMBIGUOUS_POWERS | {*INVERSES, *INVERSES.values()}
BIG = {
    "\\sum": "sum", "\\prod": "prod", "\\min": "min", "\\max": "max",
    "\\mathrm{min}": "min", "\\mathrm{max}": "max",
    "\\sup": "sup", "\\inf": "inf",
    "\\mathrm{argmin}": "argmin", "\\mathrm{argmax}": "argmax",
}  # fmt: skip
EXPECTATIONS = {
    "E": "EXPECT", "\\mathbf E": "EXPECT",
    "\\mathbb E": "EXPECT", "\\mathrm E": "EXPECT", "\\mathbb V": "VARIANCE",
    "\\mathrm{Var}": "VARIANCE", "\\mathrm{var}": "VARIANCE", "\\mathrm{Cov}": "COVARIANCE",
    "\\mathrm{cov}": "COVARIANCE", "\\mathbb C": "COVARIANCE",
}  # fmt: skip
AVERAGES = ("EXPECT", "VARIANCE", "COVARIANCE", "UNDER")
CONSTANTS = {"\\pi": "\\pi", "e": "e", "\\mathrm e": "e", "\\infty": "\\infty"}
INDICATORS = frozenset({"\\mathbb1", "\\mathbb I", "\\mathbf1"})
IDENTITIES = frozenset({"I", "\\mathbf I", "\\mathbb I", "\\mathrm I"})
DIFFERENTIALS = frozenset({"d", "\\mathrm d", "\\text{d}"})
# Behind the \in of a condition.
SPACES = frozenset({"\\mathbb R", "\\mathbb R_+", "\\mathbb R_{>0}", "\\mathbb N", "\\mathbb Z"})
TRANSPOSES = frozenset({"\\top", "\\mathsf T", "\\mathrm T", "T"})
MARKS = frozenset({"*", "+", "\\dagger", "\\star", "\\circ", "-"})
LAYOUT_ENVIRONMENTS = _set(
    r"aligned align align* alignat alignat* alignedat split gather gather* gathered equation "
    r"equation* multline multline*"
)
BLOCKS = {
    **dict.fromkeys(["bmatrix", "pmatrix", "matrix", "Bmatrix", "smallmatrix", "array"], "_BLOCK"),
    "vmatrix": "_DETBLOCK",
    **dict.fromkeys(["cases", "dcases"], "_CASES"),
}
OPEN = {"(": ")", "[": "]", "\\{": "\\}"}
CLOSE = {shut: opened for opened, shut in OPEN.items()}
ROUNDED = {"\\lfloor": "_LFLOOR", "\\lceil": "_LCEIL"}
ENDS_AN_OPERAND = _set(
    r"NUMBER NAME CONSTANT _RPAR _RANGLE _RROUNDED _RBAR RNORM _RB TRANSPOSE INVERSE INVTRANS "
    r"FACTORIAL DIFF _ENDBLOCK _ENDCASES DOTS"
)
EXPECTS_MORE = _set(r"REL PLUS MINUS TIMES DIV INFIX WHEN LEAD IN _STOP")
# Phrases between formulas, small letters, without the punctuation around them.
QUANTIFIERS = frozenset({"for", "for all", "for every", "for each", "for any"})
CONDITIONS = QUANTIFIERS | {
    "if", "when", "whenever", "provided", "provided that", "as long as", "given", "given that",
    "assuming", "assuming that",
}  # fmt: skip  # what follows is evaluated on every draw, and must hold
CLAUSES = frozenset({"where", "with", "since", "because", "and where", "and with", "for which"})
CONNECTIVES = frozenset(
    {"and", "so", "so that", "thus", "hence", "therefore", "then", "and so", "and thus"}
    | {"and hence", "and therefore", "that is", "i.e", "which gives", "equivalently"}
)  # what follows is a statement, and is checked
REASONS = frozenset({"by", "because", "since", "using", "from", "due"})  # in brackets: passed over
CASES = _set(r"if when for where otherwise else elsewhere") | {""}
RESERVED = CASES | {"unless", "as", "in", "is", "on", "holds", "and", "or", "not"}

# Common LaTeX that is not read, and what to write instead.
_LIMIT = "check the value at a large number"
_ARROW = "an arrow is not checked: write two statements, with `so` or a comma between them"
_BIND = "bind a function, or what it makes"
UNREAD = {
    "\\dots": "write the sum with \\sum, or every term", "*": "write \\cdot, or \\odot for entries",
    **dict.fromkeys(["\\implies", "\\Rightarrow", "\\Longrightarrow"], _ARROW),
    **dict.fromkeys(["\\iff", "\\Leftrightarrow", "\\Longleftrightarrow"], _ARROW),
    "\\oint": "write the integral over a bound variable",
    "\\Pr": "write relations in its brackets, or bind it as a function",
    "\\iint": "write \\int\\int", "\\iiint": "write \\int\\int\\int",
    **dict.fromkeys(["\\sup", "\\inf"], "write what it runs over, a finite set, below it"),
    **dict.fromkeys(["\\limsup", "\\liminf"], _LIMIT),
    **dict.fromkeys(["\\cup", "\\cap", "\\setminus", "\\emptyset"], "sets are bound whole"),
    **dict.fromkeys(["\\mod", "\\bmod"], _BIND),
    **dict.fromkeys(["\\bigotimes", "\\bigoplus"], _BIND),
    **dict.fromkeys(["\\bigcup", "\\bigcap"], "sets are bound whole"),
    **dict.fromkeys(["\\cancel", "\\bcancel", "\\xcancel"], "write what is meant"),
    **dict.fromkeys(["\\colorbox", "\\fcolorbox"], "write \\color or \\boxed"),
    **dict.fromkeys(["\\ref", "\\eqref", "\\cite"], "write the formula itself"),
    "\\argmax": "write \\operatorname*{arg\\,max}", "\\argmin": "write \\operatorname*{arg\\,min}",
    "\\div": "write / or \\frac",
    **dict.fromkeys(["$", "\\[", "\\]", "\\(", "\\)"], "give what stands between them alone"),
    "−": "write -, the sign on the keyboard", "²": "write ^2",
    **dict.fromkeys(["·", "×"], "write \\cdot or \\times"),
    **dict.fromkeys(["≤", "≥", "≠", "≈"], "write \\le, \\ge, \\ne or \\approx"),
    **dict.fromkeys(["\\oplus", "\\wedge", "\\vee", "\\star", "\\bullet", "\\pmod"], _BIND),
    **dict.fromkeys(["\\vdots", "\\ddots"], "write every row"),
    **dict.fromkeys(["\\exists", "\\neg", "\\ll", "\\gg", "\\perp", "\\cong"], "write a relation"),
}  # fmt: skip
