"""Losses for torch that know about noisy labels: batched, differentiable, in logarithms, with gaps
and several labelers.

``logits`` is batch × classes; ``labels`` is batch × labelers (or a vector: one labeler) of class
codes, -1 where there is no label, which is what ``Labels.matrix()`` gives; ``confusion`` is
labelers × truth × label, or one table for all. An item without any label adds nothing. This is the
only file that imports torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    import torch
    from torch import nn
except ImportError:
    raise ImportError("truthing.train.losses needs torch: pip install 'truthing[torch]'.") from None

from truthing.errors import InputError

# stands for zero in a table of probabilities, so that logarithms and their gradients stay finite
SMALLEST = 1e-30
Tensor = Any
PerClass = Callable[[Tensor], Tensor]


def cross_entropies(logits: Tensor) -> Tensor:
    """The loss of every class, batch × classes: -log softmax. Any function of this shape can take
    its place.
    """
    return -torch.log_softmax(logits, dim=-1)


def label_log_likelihood(labels: Tensor, log_confusion: Tensor) -> Tensor:
    """log p(labels | truth): Σ_t log Π_t[c, z_t] over the labels that are there, batch × classes.

    >>> table = torch.tensor([[[0.9, 0.1], [0.2, 0.8]]])
    >>> label_log_likelihood(torch.tensor([[0], [-1]]), table.log()).exp()
    tensor([[0.9000, 0.2000],
            [1.0000, 1.0000]])
    """
    each = log_confusion.transpose(1, 2)[
        torch.arange(labels.shape[1], device=labels.device), labels.clamp_min(0)
    ]
    return torch.where(
        (labels >= 0)[..., None], each, torch.zeros((), dtype=each.dtype, device=each.device)
    ).sum(dim=1)


class LabelLoss(nn.Module):
    """What the losses share: a table for each labeler, and a mean over items that have a label."""

    def __init__(self, confusion: Any, *, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise InputError(f"reduction {reduction!r} is not known: choose mean, sum or none.")
        self.reduction = reduction
        self.register_buffer("confusion", _tables(confusion))

    def _aligned(
        self, logits: Tensor, labels: Tensor, tables: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Labels as batch × labelers and a table for each labeler, in the precision of the
        logits.
        """
        labels = labels[:, None] if labels.ndim == 1 else labels
        tables = self.confusion if tables is None else tables
        if len(labels) != len(logits):
            raise InputError(
                f"{len(logits)} rows of logits and {len(labels)} of labels: give one for each item."
            )
        if tables.shape[0] not in (1, labels.shape[1]) or tables.shape[1] != logits.shape[1]:
            raise InputError(
                f"tables of shape {tuple(tables.shape)} (labelers, truth, label) do not fit "
                f"{labels.shape[1]} labelers and {logits.shape[1]} classes."
            )
        return labels.long(), tables.to(logits.dtype).expand(labels.shape[1], -1, -1)

    def _reduce(self, loss: Tensor, labels: Tensor) -> Tensor:
        seen = (labels >= 0).any(dim=1)
        loss = torch.where(seen, loss, torch.zeros_like(loss))
        if self.reduction == "none":
            return loss
        return loss.sum() / seen.sum().clamp_min(1) if self.reduction == "mean" else loss.sum()


class MMSELoss(LabelLoss):
    """The conditional mean of a loss given the labels (Su 40): ``Σ_y p(y | z) L(logits, y)``, a
    soft target where L is cross-entropy.

    ``prior`` is the class prior (None: uniform). p(y | z) does not ask x: weak labels shrink the
    result towards the prior.

    >>> loss = MMSELoss([[0.9, 0.1], [0.1, 0.9]])
    >>> round(float(loss(torch.zeros(3, 2), torch.tensor([0, 1, -1]))), 4)
    0.6931
    """

    def __init__(
        self,
        confusion: Any,
        prior: Any = None,
        *,
        base: PerClass = cross_entropies,
        reduction: str = "mean",
    ) -> None:
        super().__init__(confusion, reduction=reduction)
        n_classes = self.confusion.shape[1]
        share = torch.full((n_classes,), 1 / n_classes) if prior is None else torch.as_tensor(prior)
        self.register_buffer(
            "prior",
            share.to(torch.get_default_dtype() if not share.is_floating_point() else share.dtype),
        )
        self.base = base

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        labels, tables = self._aligned(logits, labels)
        evidence = label_log_likelihood(labels, tables.clamp_min(SMALLEST).log())
        target = torch.softmax(
            evidence + self.prior.to(logits.dtype).clamp_min(SMALLEST).log(), dim=1
        )
        return self._reduce((target * self.base(logits)).sum(dim=1), labels)


class MarginalLikelihoodLoss(LabelLoss):
    """Minus the log-likelihood of the labels, the truth summed out (Su 31; "forward correction"):
    ``-log Σ_y p(z | y) p(y | x)``.

    >>> loss = MarginalLikelihoodLoss([[0.9, 0.1], [0.1, 0.9]])
    >>> round(float(loss(torch.tensor([[9.0, -9.0]]), torch.tensor([[0, 0, -1]]))), 4)  # -log .9²
    0.2107
    """

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        labels, tables = self._aligned(logits, labels)
        evidence = label_log_likelihood(labels, tables.clamp_min(SMALLEST).log())
        return self._reduce(
            -torch.logsumexp(evidence + torch.log_softmax(logits, dim=1), dim=1), labels
        )


class WeakLabelLoss(LabelLoss):
    """Unbiased losses from partial labels (Cid-Sueiro): the symbol seen is one of B, p(symbol |
    truth) = ``mixing`` (truth × symbol, or one for each labeler).

    Solves ``mixing · L_weak = L``, so that the mean of L_weak over symbols is L whatever the truth.
    Needs as many independent symbols as classes. A label that is unlikely can make the loss
    negative: that is the price of having no bias.

    >>> symbols = [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]  # "a", "b", "either"
    >>> loss = WeakLabelLoss(symbols, reduction="none")
    >>> logits = torch.tensor([[2.0, 0.0]]).expand(3, 2)
    >>> each = loss(logits, torch.arange(3))
    >>> torch.allclose(torch.tensor(symbols) @ each, cross_entropies(logits[:1])[0])
    True
    """

    def __init__(
        self, mixing: Any, *, base: PerClass = cross_entropies, reduction: str = "mean"
    ) -> None:
        super().__init__(mixing, reduction=reduction)
        exact = self.confusion.double()
        if int(torch.linalg.matrix_rank(exact).min()) < exact.shape[1]:
            raise InputError(
                "the labels cannot tell the classes apart: a table's rows are dependent, so "
                "no unbiased loss exists."
            )
        self.register_buffer("inverse", torch.linalg.pinv(exact).to(self.confusion.dtype))
        self.base = base

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        labels, _ = self._aligned(logits, labels)
        inverse = self.inverse.to(logits.dtype).expand(labels.shape[1], -1, -1)
        each = torch.einsum("tbc,nc->ntb", inverse, self.base(logits))
        chosen = each.gather(2, labels.clamp_min(0)[..., None])[..., 0] * (labels >= 0)
        return self._reduce(chosen.sum(dim=1) / (labels >= 0).sum(dim=1).clamp_min(1), labels)


class ProxyLoss(WeakLabelLoss):
    """The proxy loss ("backward correction", Natarajan): `WeakLabelLoss` for a square confusion
    matrix, the mean over an item's labelers.

    >>> torch.allclose(ProxyLoss(torch.eye(2))(torch.tensor([[2.0, 0.0]]), torch.tensor([0])),
    ...     torch.tensor(0.1269), atol=1e-4)
    True
    """

    def __init__(
        self, confusion: Any, *, base: PerClass = cross_entropies, reduction: str = "mean"
    ) -> None:
        super().__init__(confusion, base=base, reduction=reduction)
        if self.confusion.shape[1] != self.confusion.shape[2]:
            raise InputError(
                "a confusion matrix is square; for other sets of labels use WeakLabelLoss."
            )


class NoiseLayer(nn.Module):
    """From class scores to the log-probability of each labeler's label: ``log Σ_y p(y | x) Π_t[y,
    z]``, batch × labelers × labels.

    Fixed where ``confusion`` is given and ``learn`` is off; learned (Sukhbaatar) from there or from
    diagonal tables with ``start`` on the diagonal; ``dropout`` on the class probabilities
    regularises a learned layer (Jindal). Rows stay probabilities by a softmax.

    >>> layer = NoiseLayer(2, confusion=[[0.9, 0.1], [0.2, 0.8]], learn=False)
    >>> layer(torch.tensor([[50.0, 0.0]])).exp()
    tensor([[[0.9000, 0.1000]]])
    """

    def __init__(
        self,
        n_classes: int,
        n_labelers: int = 1,
        *,
        confusion: Any = None,
        learn: bool = True,
        start: float = 0.8,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if confusion is None:
            if not 0 < start < 1 or n_classes < 2:
                raise InputError(
                    f"start={start}, n_classes={n_classes}: a start between 0 and 1, and two "
                    "classes or more."
                )
            off = (1 - start) / (n_classes - 1)
            confusion = torch.full((n_classes, n_classes), off).fill_diagonal_(start)
        tables = _tables(confusion)
        if tables.shape[1:] != (n_classes, n_classes) or tables.shape[0] not in (1, n_labelers):
            raise InputError(
                f"confusion of shape {tuple(tables.shape)} does not fit {n_labelers} "
                f"labelers and {n_classes} classes."
            )
        logs = tables.clamp_min(SMALLEST).log().expand(n_labelers, -1, -1).clone()
        self.weights = nn.Parameter(logs, requires_grad=learn)
        self.dropout = nn.Dropout(dropout)

    def log_confusion(self) -> Tensor:
        return torch.log_softmax(self.weights, dim=2)

    @property
    def confusion(self) -> Tensor:
        """The tables as they now are, labelers × truth × label."""
        return self.log_confusion().exp()

    def forward(self, logits: Tensor) -> Tensor:
        chance = torch.log_softmax(logits, dim=1)
        if self.training and self.dropout.p > 0:
            chance = chance + self.dropout(torch.ones_like(chance)).clamp_min(SMALLEST).log()
        return torch.logsumexp(
            chance[:, None, :, None] + self.log_confusion().to(logits.dtype), dim=2
        )


class CrowdLoss(LabelLoss):
    """Every labeler's confusion matrix learned with the network (Tanno): ``Σ_t -log Σ_y p(y | x)
    Π_t[y, z_t] + trace · mean_t tr Π_t``.

    A positive ``trace`` pulls the matrices away from the identity, so that noise is explained by
    labelers and not by the network; ``layer`` holds the matrices: add ``loss.parameters()`` to the
    optimiser. `MarginalLikelihoodLoss` with tables from Dawid-Skene needs no learning of tables.

    >>> loss = CrowdLoss(n_classes=2, n_labelers=3, trace=0.01)
    >>> loss(torch.zeros(4, 2), torch.tensor([[0, 1, -1]] * 4)).ndim, tuple(loss.confusion.shape)
    (0, (3, 2, 2))
    """

    def __init__(
        self,
        n_classes: int,
        n_labelers: int,
        *,
        trace: float = 0.01,
        start: float = 0.8,
        confusion: Any = None,
        dropout: float = 0.0,
        learn: bool = True,
        reduction: str = "mean",
    ) -> None:
        nn.Module.__init__(self)
        if reduction not in ("mean", "sum"):
            raise InputError(
                f"reduction {reduction!r}: the trace belongs to no single item; choose mean or sum."
            )
        self.reduction, self.trace = reduction, trace
        self.layer = NoiseLayer(
            n_classes, n_labelers, confusion=confusion, learn=learn, start=start, dropout=dropout
        )

    @property
    def confusion(self) -> Tensor:
        return self.layer.confusion

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        labels, _ = self._aligned(logits, labels, self.layer.weights)
        each = -self.layer(logits).gather(2, labels.clamp_min(0)[..., None])[..., 0]
        fit = self._reduce((each * (labels >= 0)).sum(dim=1), labels)
        return fit + self.trace * self.confusion.diagonal(dim1=1, dim2=2).sum(dim=1).mean()


def _tables(confusion: Any) -> Tensor:
    """One table for all or one for each labeler, checked: rows are probabilities."""
    tables = torch.as_tensor(confusion)
    tables = tables if tables.is_floating_point() else tables.to(torch.get_default_dtype())
    tables = tables[None] if tables.ndim == 2 else tables
    if (
        tables.ndim != 3
        or not bool((tables >= 0).all())
        or not torch.allclose(tables.sum(dim=2), torch.ones((), dtype=tables.dtype), atol=1e-5)
    ):
        raise InputError(
            "confusion holds probabilities with the truth in rows, and each row sums to one: "
            "truth × label, or labelers × truth × label."
        )
    return tables.detach().clone()
