"""The public names of training, each listed here and nowhere else; `truthing.lazy` reads this
file.
"""

from truthing.train import losses as losses
from truthing.train.evidence import WeakLabelsWarning as WeakLabelsWarning
from truthing.train.evidence import align_labels as align_labels
from truthing.train.foils import LabelerVotingClassifier as LabelerVotingClassifier
from truthing.train.foils import LabelEstimationClassifier as LabelEstimationClassifier
from truthing.train.joint import JointEMClassifier as JointEMClassifier
from truthing.train.logistic import NoisyLogisticRegression as NoisyLogisticRegression
from truthing.train.mmse import MMSEClassifier as MMSEClassifier
from truthing.train.mmse import ReplicationClassifier as ReplicationClassifier
from truthing.train.naive_bayes import NoisyNaiveBayes as NoisyNaiveBayes
from truthing.train.selection import LabelsKFold as LabelsKFold
from truthing.train.selection import NoisyScorer as NoisyScorer
from truthing.train.selection import noisy_scorer as noisy_scorer
