"""NumPy kernels longer than one expression.  Every function stands alone: an exported file can carry its source."""

from symgrad.kernels.arrays.copies import *  # noqa: F403
from symgrad.kernels.arrays.index import *  # noqa: F403
from symgrad.kernels.arrays.products import *  # noqa: F403
from symgrad.kernels.arrays.reductions import *  # noqa: F403
from symgrad.kernels.arrays.scan import *  # noqa: F403
from symgrad.kernels.entries.elementwise import *  # noqa: F403
from symgrad.kernels.entries.neurons import *  # noqa: F403
from symgrad.kernels.entries.rounding import *  # noqa: F403
from symgrad.kernels.matrices.linalg import *  # noqa: F403
from symgrad.kernels.matrices.matrix_functions import *  # noqa: F403
from symgrad.kernels.special.airy import *  # noqa: F403
from symgrad.kernels.special.bessel import *  # noqa: F403
from symgrad.kernels.special.beta_integrals import *  # noqa: F403
from symgrad.kernels.special.dilogarithm import *  # noqa: F403
from symgrad.kernels.special.elliptic import *  # noqa: F403
from symgrad.kernels.special.error_integrals import *  # noqa: F403
from symgrad.kernels.special.euler import *  # noqa: F403
from symgrad.kernels.special.exponential_integrals import *  # noqa: F403
from symgrad.kernels.special.gamma import *  # noqa: F403
from symgrad.kernels.special.gamma_integrals import *  # noqa: F403
from symgrad.kernels.special.jets import *  # noqa: F403
from symgrad.kernels.special.lambert import *  # noqa: F403
from symgrad.kernels.special.normal import *  # noqa: F403
from symgrad.kernels.special.orthogonal import *  # noqa: F403
from symgrad.kernels.special.spherical import *  # noqa: F403
from symgrad.kernels.special.zeta import *  # noqa: F403
