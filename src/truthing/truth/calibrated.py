"""A calibration set: other items, labelled by the same labelers, whose truth is known.

Items are put into categories by what the consensus of the labelers says and how clearly. How often
each category occurs among items of a true class is learned on the calibration set and carried over
(label shift: the classes' shares may differ). Where the calibration items were chosen by the
labelers' verdict, the classes' shares within a category are carried over instead.

Where the calibration items have no predictions, nothing tells how the classifier's mistakes depend
on the consensus's: given the truth, the log-odds of the consensus's own wrong class among
predictions are higher by a tilt that is drawn as public panels had it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.survey.calibration import CalibrationItems
from truthing.truth.outcome import NoiseSummary

CHAINS, BURN, MOST_BURN, THIN = 500, 100, 6400, 30
CLIMBS = 60  # steps of EM before the first draw
RARE = 0.002  # of all items: differences so small are none
DRIFT = 0.2  # of a standard deviation: chains that still move so far are not settled
TILT = (2.0, 1.4)  # mean and sd over 63 public panels of people and language models
SPREAD = 0.5  # pseudo-items of a class in each place: sparser rows would look too sure
MINED = 12  # calibration items that a category of one class should hold
FEWEST = 20  # items whose exact balance may be by design


@dataclass(frozen=True, eq=False)
class Setting:
    """Graded items in groups, and the calibration counts.

    ``size`` and ``combination`` and ``category`` describe groups; ``known`` are gold items of the
    graded set, groups × classes; ``seen`` are calibration items, classes × categories, or where
    they have predictions classes × combinations × categories. ``wrong_with[a, k]`` counts the
    classifiers of combination a that say what category k says.
    """

    n_classes: int
    size: Array
    combination: Array
    category: Array
    known: Array
    seen: Array
    guess: Array  # the consensus class of each category
    agrees: Array  # combinations × categories
    by_verdict: bool = False
    block: Array | None = None  # of each group: strata and slices have class shares of their own
    worth: float = 1.0  # what a graded item counts: less where items come in clusters

    @property
    def joint(self) -> bool:
        return self.seen.ndim == 3

    @property
    def steps_are_draws(self) -> bool:
        """Nothing that a step draws depends on the step before."""
        return self.by_verdict and (self.joint or len(self.agrees) == 1)

    @property
    def place(self) -> Array:
        """Of each group among the rows."""
        if not self.joint:
            return self.category
        return np.asarray(self.combination * self.seen.shape[2] + self.category)

    @property
    def blocks(self) -> Array:
        return np.zeros(len(self.size), dtype=np.int64) if self.block is None else self.block

    @property
    def total(self) -> Array:
        """Graded items of each group, gold included."""
        return np.asarray(self.size + self.known.sum(axis=1))

    @property
    def held(self) -> Array:
        """Graded items in each place."""
        return np.bincount(self.place, weights=self.total, minlength=self.seen[0].size)

    @property
    def block_shares(self) -> Array:
        """The blocks' shares of the graded items."""
        return np.bincount(self.blocks, weights=self.total) / self.total.sum()


@dataclass(frozen=True, eq=False)
class Chances:
    """Draws of each group's class probabilities, draws × groups × classes, and of the classes'
    shares among new items, draws × classes, and draws × blocks × classes."""

    chance: Array
    shares: Array
    by_block: Array
    settled: bool = True


def draw_chances(
    setting: Setting, n_draws: int, rng: np.random.Generator, shift: float = 0.0
) -> Chances:
    """Gibbs sampling in many chains side by side, from rows drawn by the calibration set alone and
    what they make most likely; first as long as it takes until the chains no longer move together.

    ``shift`` changes the log-odds that a category is right, for sensitivity.
    """
    chains = min(CHAINS, n_draws)
    keep = -(-n_draws // chains)
    state = _State(setting, chains, rng, shift)
    thin, settled = (1, True) if setting.steps_are_draws else (THIN, _settle(state))
    kept: list[tuple[Array, Array]] = []
    for _ in range(keep):
        for _ in range(thin):
            state.step()
        kept.append((state.chance, state.shares))
    order = rng.permutation(chains * keep)[:n_draws]
    chance, shares = (np.concatenate(parts)[order] for parts in zip(*kept))
    prior = np.einsum("b,dbc->dc", setting.block_shares, shares)
    return Chances(chance, prior, shares, settled)


def _settle(state: _State) -> bool:
    """Steps until the chains' mean no longer moves: compared a quarter of the way and at the end of
    a run, each four times as long as the one before. False where they move after the longest."""
    state.climb()
    before, done, until = state.summary(), 0, BURN // 4
    while True:
        for _ in range(until - done):
            state.step()
        now = state.summary()
        moved = np.abs(now.mean(axis=0) - before.mean(axis=0)) / (now.std(axis=0) + RARE)
        if until >= BURN and moved.max(initial=0.0) < DRIFT:
            return True
        if until >= MOST_BURN:
            return False
        before, done, until = now, until, 4 * until


def _believed(setting: Setting) -> Array:
    """What the calibration items say of the truth in each place, places × classes: a place of a
    combination borrows one item from what prediction and category say one by one."""
    n = setting.n_classes
    if not setting.joint:
        return np.asarray(setting.seen.T + 1 / n)
    by_category, by_answer = (setting.seen.sum(axis=axis) + 1 / n for axis in (1, 2))
    classes = setting.seen.sum(axis=(1, 2)) + 1 / n
    both = by_answer[:, :, None] * by_category[:, None, :] / classes[:, None, None]
    share = both / both.sum(axis=0)
    return np.asarray((setting.seen + share + 0.5 / n).reshape(n, -1).T)


class _State:
    """Where the chains are: rows, the classes' shares, the classifier's answers, and with them the
    chances of the groups."""

    def __init__(
        self, setting: Setting, chains: int, rng: np.random.Generator, shift: float
    ) -> None:
        self.setting, self.rng = setting, rng
        n = setting.n_classes
        self.place = setting.place
        self.seen = setting.seen.reshape(n, -1)
        moved = np.exp(shift * (setting.guess == np.arange(n)[:, None]))
        self.moved = np.tile(moved, (1, self.seen.shape[1] // len(setting.guess)))
        held = setting.held + 0.1
        self.base = _believed(setting).T if setting.by_verdict else SPREAD * np.ones(len(held))
        tilt = rng.normal(*TILT, chains)
        lifted = setting.agrees[None, :, :] * (setting.guess != np.arange(n)[:, None])[:, None, :]
        self.lift = np.exp(tilt[:, None, None, None] * lifted)  # chains × t × a × k
        combinations = setting.agrees.shape[0]
        self.answers = np.full((chains, n, combinations), 1 / combinations)
        self.blocks = setting.blocks
        self.shares = _dirichlet(np.ones((chains, len(setting.block_shares), n)), rng)
        self.rows = self._rows(np.zeros((chains, *self.seen.shape)))
        self.chance = self._chances()

    def climb(self) -> None:
        """Shares and answers that the drawn rows make most likely: chains start near their goal."""
        setting = self.setting
        for _ in range(CLIMBS):
            held = setting.size[:, None] * self.chance + setting.known
            by_block = _added(held, self.blocks, self.shares.shape[1]).transpose(0, 2, 1)
            self.shares = _scaled(by_block + 0.5)
            if not setting.joint:
                answers = _added(held, setting.combination, len(setting.agrees))
                self.answers = _scaled(answers + 0.5)
            self.chance = self._chances()

    def summary(self) -> Array:
        """Shares of the items by true class and combination, chains × both."""
        setting = self.setting
        mass = setting.total[:, None] * self.chance / setting.total.sum()
        return _added(mass, setting.combination, len(setting.agrees)).reshape(len(mass), -1)

    def step(self) -> None:
        setting, rng = self.setting, self.rng
        drawn = rng.multinomial(setting.size, self.chance) + setting.known  # chains × groups × t
        by_block = _added(drawn, self.blocks, self.shares.shape[1]).transpose(0, 2, 1)
        self.shares = _dirichlet(setting.worth * by_block + 0.5, rng)
        self.rows = self._rows(setting.worth * _added(drawn, self.place, self.seen.shape[1]))
        if not setting.joint:
            self._answer(drawn)
        self.chance = self._chances()

    def _rows(self, held: Array) -> Array:
        """P(place | truth), chains × classes × places, or by verdict P(truth | place): a place is a
        category, or a combination and a category."""
        if self.setting.by_verdict:
            # graded items cannot teach it: their truth is drawn from it
            alpha = np.broadcast_to(self.base, held.shape).transpose(0, 2, 1)
            rows = _dirichlet(alpha, self.rng).transpose(0, 2, 1) * self.moved
            return np.asarray(rows / rows.sum(axis=1, keepdims=True))
        rows = _dirichlet(held + self.seen + self.base, self.rng)
        return _scaled(rows * self.moved)

    def _chances(self) -> Array:
        setting = self.setting
        weight = self.rows[:, :, self.place]
        if not setting.by_verdict:
            weight = self.shares[:, self.blocks].transpose(0, 2, 1) * weight
        if not setting.joint:
            tilted = self.answers[:, :, :, None] * self.lift
            tilted = tilted / np.maximum(tilted.sum(axis=2, keepdims=True), 1e-300)
            weight = weight * tilted[:, :, setting.combination, setting.category]
        return _scaled(weight.transpose(0, 2, 1))

    def _answer(self, drawn: Array) -> None:
        """The classifier's rows: Metropolis steps, proposed as if there were no tilt."""
        setting = self.setting
        a, k = setting.agrees.shape
        held = _added(drawn, setting.combination * k + setting.category, a * k)
        held = held.reshape(*held.shape[:2], a, k)
        proposed = _dirichlet(held.sum(axis=3) + 0.5, self.rng)

        def beyond(rows: Array) -> Array:
            """log of the tilted likelihood over the plain one, draws × t."""
            total = np.maximum((rows[:, :, :, None] * self.lift).sum(axis=2), 1e-300)
            return np.asarray(-(held.sum(axis=2) * np.log(total)).sum(axis=2))

        better = beyond(proposed) - beyond(self.answers)
        accept = np.log(self.rng.random(better.shape)) < better
        self.answers = np.where(accept[:, :, None], proposed, self.answers)


def _added(drawn: Array, place: Array, size: int) -> Array:
    """Counts draws × groups × classes added up by place, draws × classes × places."""
    return np.asarray(drawn.transpose(0, 2, 1) @ np.eye(size)[place])


def _scaled(table: Array) -> Array:
    return np.asarray(table / np.maximum(table.sum(axis=-1, keepdims=True), 1e-300))


def _dirichlet(alpha: Array, rng: np.random.Generator) -> Array:
    return _scaled(np.maximum(rng.standard_gamma(alpha), 1e-300))


def categories(
    posterior: Array, calibration: Array, truth: Array, verdict: Array | None = None
) -> tuple[Array, Array, Array]:
    """Codes of graded and calibration items by the consensus class and how clear it is, and the
    class of each category; finer where the calibration set is large enough.

    ``verdict`` (of both sets, one after the other) is what the calibration items were chosen by:
    categories never mix two verdicts.
    """
    both = np.concatenate([posterior, calibration])
    top, clear, n = both.argmax(axis=1), both.max(axis=1), len(posterior)
    keys = top if verdict is None else top * (verdict.max() + 1) + verdict
    code = np.zeros(len(both), dtype=np.int64)
    classes: list[int] = []
    for key in np.unique(keys):
        here = np.flatnonzero(keys == key)
        mine = here[here >= n]
        fine = len(mine) >= 2 * MINED and len(np.unique(truth)) == 2
        limit = np.median(clear[mine]) if fine else -np.inf
        low = clear[here] < limit - 1e-9
        for part in (here[~low], here[low]):
            if len(part):
                code[part] = len(classes)
                classes.append(int(top[here[0]]))
    return code[:n], code[n:], np.array(classes)


def balanced(codes: Array) -> bool:
    """Do all classes that occur occur equally often, as if by design?"""
    counts = np.bincount(codes)
    counts = counts[counts > 0]
    return bool(len(codes) >= FEWEST and len(counts) > 1 and counts.max() == counts.min())


def differs(graded: Array, calibration: Array, truth: Array, shares: Array) -> float:
    """How probable so different patterns are if the same labelers met the same kind of items.

    ``graded`` and ``calibration`` are category codes; the calibration's are weighted to the
    classes'
    ``shares`` among the graded items. With as many categories as classes the shares explain
    everything and nothing can be seen (1)."""
    k = int(max(graded.max(), calibration.max())) + 1
    present = np.flatnonzero(np.bincount(truth, minlength=len(shares)))
    if k <= len(present):
        return 1.0
    rows = np.stack([np.bincount(calibration[truth == t], minlength=k) for t in present])
    size = rows.sum(axis=1)
    rate = (rows + 0.5) / (rows + 0.5).sum(axis=1, keepdims=True)
    expected = shares[present] @ rate / shares[present].sum()
    seen = np.bincount(graded, minlength=k) / len(graded)
    own = (shares[present, None] ** 2 * rate * (1 - rate) / size[:, None]).sum(axis=0)
    spread = expected * (1 - expected) / len(graded) + own
    return float(chdtrc(k - len(present), ((seen - expected) ** 2 / spread).sum() * (k - 1) / k))


def confusion_summary(labels: Labels, items: CalibrationItems, prior: Array) -> NoiseSummary:
    """Each labeler's confusion as the calibration items show it, a row of no item being flat."""
    n = labels.n_classes
    table = np.full((labels.n_labelers, n, n), 1.0 / n)
    theirs = items.labels
    np.add.at(table, (theirs.labeler, items.truth[theirs.item], theirs.label), 1.0)
    table /= table.sum(axis=2, keepdims=True)
    return NoiseSummary(
        "confusion matrices from the calibration set", labels.labelers, table, prior, learned=True
    )
