"""The losses alone."""

from __future__ import annotations

from pyburn.nn._loss import BCELoss as BCELoss
from pyburn.nn._loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from pyburn.nn._loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from pyburn.nn._loss import CrossEntropyLoss as CrossEntropyLoss
from pyburn.nn._loss import GaussianNLLLoss as GaussianNLLLoss
from pyburn.nn._loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from pyburn.nn._loss import HuberLoss as HuberLoss
from pyburn.nn._loss import KLDivLoss as KLDivLoss
from pyburn.nn._loss import L1Loss as L1Loss
from pyburn.nn._loss import LpLoss as LpLoss
from pyburn.nn._loss import MarginRankingLoss as MarginRankingLoss
from pyburn.nn._loss import MSELoss as MSELoss
from pyburn.nn._loss import MultiLabelMarginLoss as MultiLabelMarginLoss
from pyburn.nn._loss import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from pyburn.nn._loss import MultiMarginLoss as MultiMarginLoss
from pyburn.nn._loss import NLLLoss as NLLLoss
from pyburn.nn._loss import NLLLoss2d as NLLLoss2d
from pyburn.nn._loss import PoissonNLLLoss as PoissonNLLLoss
from pyburn.nn._loss import SmoothL1Loss as SmoothL1Loss
from pyburn.nn._loss import SoftMarginLoss as SoftMarginLoss
from pyburn.nn._loss import TripletMarginLoss as TripletMarginLoss
from pyburn.nn._loss import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from pyburn.nn._loss_region import DiceLoss as DiceLoss
from pyburn.nn._loss_region import FocalLoss as FocalLoss
from pyburn.nn._loss_region import TverskyLoss as TverskyLoss
from pyburn.nn._loss_sequence import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from pyburn.nn._loss_sequence import CTCLoss as CTCLoss
from pyburn.nn._loss_sequence import RNNTLoss as RNNTLoss
