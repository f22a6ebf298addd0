"""One right call of every public function, by floor of the package."""

from .approximate import CALLS as _APPROXIMATE
from .bayesopt import CALLS as _BAYESOPT
from .beliefs import CALLS as _BELIEFS
from .calibration import CALLS as _CALIBRATION
from .control import CALLS as _CONTROL
from .decisions import CALLS as _DECISIONS
from .deep import CALLS as _DEEP
from .equations import CALLS as _EQUATIONS
from .estimators import CALLS as _ESTIMATORS
from .games import CALLS as _GAMES
from .ground import CALLS as _GROUND
from .learning import CALLS as _LEARNING
from .models import CALLS as _MODELS
from .networks import CALLS as _NETWORKS
from .processes import CALLS as _PROCESSES
from .samplers import CALLS as _SAMPLERS
from .verbs import CALLS as _VERBS

CALLS = (
    *_GROUND,
    *_MODELS,
    *_VERBS,
    *_CALIBRATION,
    *_APPROXIMATE,
    *_NETWORKS,
    *_DEEP,
    *_SAMPLERS,
    *_DECISIONS,
    *_BAYESOPT,
    *_BELIEFS,
    *_GAMES,
    *_PROCESSES,
    *_CONTROL,
    *_LEARNING,
    *_EQUATIONS,
    *_ESTIMATORS,
)
