from .composite_kernel_pca import CompositeKernelPCA as CompositeKernelPCA
from .condensed import CondensedNN as CondensedNN
from .kernel_pca import KernelPCAClassifier as KernelPCAClassifier
from .ordinal import OrdinalKNN as OrdinalKNN
from .rows import ScalingWarning as ScalingWarning
from .semi_supervised_condensed import SemiSupervisedCondensedNN as SemiSupervisedCondensedNN
from .tri_training import TriTraining as TriTraining
