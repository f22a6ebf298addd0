"""One right call of every public function, by floor of the package."""

from .approximate import CALLS as _APPROXIMATE
from .bayesopt import CALLS as _BAYESOPT
from .control import CALLS as _CONTROL
from .decisions import CALLS as _DECISIONS
from .equations import CALLS as _EQUATIONS
from .estimators import CALLS as _ESTIMATORS
from .games import CALLS as _GAMES
from .ground import CALLS as _GROUND
from .models import CALLS as _MODELS
from .samplers import CALLS as _SAMPLERS

CALLS = (
    *_GROUND,
    *_MODELS,
    *_APPROXIMATE,
    *_SAMPLERS,
    *_DECISIONS,
    *_BAYESOPT,
    *_GAMES,
    *_CONTROL,
    *_EQUATIONS,
    *_ESTIMATORS,
)
