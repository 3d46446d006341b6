"""NumPy kernels longer than one expression.  Every function stands alone: an exported file can carry its source."""

from symgrad.kernels.airy import *  # noqa: F403
from symgrad.kernels.bessel import *  # noqa: F403
from symgrad.kernels.beta_integrals import *  # noqa: F403
from symgrad.kernels.copies import *  # noqa: F403
from symgrad.kernels.dilogarithm import *  # noqa: F403
from symgrad.kernels.elementwise import *  # noqa: F403
from symgrad.kernels.elliptic import *  # noqa: F403
from symgrad.kernels.error_integrals import *  # noqa: F403
from symgrad.kernels.euler import *  # noqa: F403
from symgrad.kernels.exponential_integrals import *  # noqa: F403
from symgrad.kernels.gamma import *  # noqa: F403
from symgrad.kernels.gamma_integrals import *  # noqa: F403
from symgrad.kernels.index import *  # noqa: F403
from symgrad.kernels.jets import *  # noqa: F403
from symgrad.kernels.linalg import *  # noqa: F403
from symgrad.kernels.matrix_functions import *  # noqa: F403
from symgrad.kernels.neurons import *  # noqa: F403
from symgrad.kernels.orthogonal import *  # noqa: F403
from symgrad.kernels.products import *  # noqa: F403
from symgrad.kernels.reductions import *  # noqa: F403
from symgrad.kernels.rounding import *  # noqa: F403
from symgrad.kernels.scan import *  # noqa: F403
from symgrad.kernels.special import *  # noqa: F403
from symgrad.kernels.spherical import *  # noqa: F403
from symgrad.kernels.zeta import *  # noqa: F403
