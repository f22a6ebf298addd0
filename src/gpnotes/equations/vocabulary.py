"""The fixed words of the language: operators, relations, functions, environments."""

from __future__ import annotations

OPERATORS = {
    "+": "PLUS", "-": "MINUS", "\\cdot": "TIMES", "\\times": "TIMES", "/": "DIV",
    "\\odot": "ODOT", "!": "FACTORIAL",
}  # fmt: skip
RELATIONS = frozenset(
    [
        r"=",
        r":=",
        r"\approx",
        r"\le",
        r"\ge",
        r"<",
        r">",
        r"\propto",
        r"\succeq",
        r"\preceq",
        r"\succ",
        r"\prec",
        r"\sim",
        r"\triangleq",
        r"\equiv",
        r"\ne",
        r"\simeq",
        r"\in",
        r"\to",
        r"\mapsto",
    ]
)
FUNCTIONS = {
    "\\log": "log", "\\ln": "log", "\\exp": "exp", "\\cos": "cos", "\\sin": "sin", "\\tan": "tan",
    "\\tanh": "tanh", "\\sinh": "sinh", "\\cosh": "cosh", "\\arccos": "arccos",
    "\\arcsin": "arcsin", "\\arctan": "arctan", "\\det": "det", "\\min": "min", "\\max": "max",
    "\\mathrm{tr}": "tr", "\\mathrm{Tr}": "tr", "\\mathrm{trace}": "tr", "\\mathrm{diag}": "diag",
    "\\mathrm{Diag}": "diag", "\\mathrm{rank}": "rank", "\\mathrm{sign}": "sign",
    "\\mathrm{sgn}": "sign", "\\mathrm{log}": "log", "\\mathrm{exp}": "exp",
    "\\mathrm{det}": "det", "\\mathrm{min}": "min", "\\mathrm{max}": "max",
}  # fmt: skip
AMBIGUOUS_POWERS = frozenset(
    [r"log", r"cos", r"sin", r"tan", r"tanh", r"sinh", r"cosh", r"arccos", r"arcsin", r"arctan"]
)
BIG = {
    "\\sum": "sum", "\\prod": "prod", "\\min": "min", "\\max": "max",
    "\\mathrm{min}": "min", "\\mathrm{max}": "max",
}  # fmt: skip
EXPECTATIONS = {
    "\\mathbb E": "EXPECT", "\\mathrm E": "EXPECT", "\\mathbb V": "VARIANCE",
    "\\mathrm{Var}": "VARIANCE", "\\mathrm{var}": "VARIANCE", "\\mathrm{Cov}": "COVARIANCE",
    "\\mathrm{cov}": "COVARIANCE", "\\mathbb C": "COVARIANCE",
}  # fmt: skip
CONSTANTS = {"\\pi": "\\pi", "e": "e", "\\mathrm e": "e", "\\infty": "\\infty"}
INDICATORS = frozenset({"\\mathbb 1", "\\mathbb I", "\\mathbf 1"})
DIFFERENTIALS = frozenset({"d", "\\mathrm d"})
TRANSPOSES = frozenset({"\\top", "\\mathsf T", "\\mathrm T", "T"})
MARKS = frozenset({"*", "+", "\\dagger", "\\star", "\\circ", "-"})
LAYOUT_ENVIRONMENTS = frozenset(
    [
        "aligned",
        "align",
        "align*",
        "split",
        "gather",
        "gather*",
        "gathered",
        "equation",
        "equation*",
        "multline",
        "multline*",
    ]
)
BLOCKS = {
    **dict.fromkeys(["bmatrix", "pmatrix", "matrix", "Bmatrix", "smallmatrix", "array"], "_BLOCK"),
    "vmatrix": "_DETBLOCK",
    "cases": "_CASES",
}
OPEN = {"(": ")", "[": "]", "\\{": "\\}"}
CLOSE = {shut: opened for opened, shut in OPEN.items()}
ENDS_AN_OPERAND = frozenset(
    [
        "NUMBER",
        "NAME",
        "CONSTANT",
        "_RPAR",
        "_RBAR",
        "RNORM",
        "_RB",
        "TRANSPOSE",
        "INVERSE",
        "INVTRANS",
        "FACTORIAL",
        "DIFF",
        "_ENDBLOCK",
        "_ENDCASES",
    ]
)
EXPECTS_MORE = frozenset(["REL", "PLUS", "MINUS", "TIMES", "DIV", "ODOT", "_STOP"])
QUALIFIERS = frozenset(
    [
        "for",
        "if",
        "when",
        "where",
        "with",
        "as",
        "since",
        "because",
        "in",
        "is",
        "on",
        "given",
        "whenever",
        "provided",
        "holds",
    ]
)
STOPS = frozenset([r"\implies", r"\iff", r"\Rightarrow", r"\Longrightarrow", r"\Leftrightarrow"])
