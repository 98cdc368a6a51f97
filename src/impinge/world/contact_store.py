"""The contacts of all pairs of a world, of which some are computed anew in each frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools
from impinge.broadphase.pair_keys import Keys
from impinge.queries.contact_columns import NO_CONTACTS, contacts_of
from impinge.queries.method import ContactColumns
from impinge.results import Contacts


class ContactStore:
    """Contacts sorted by pair, then as ``Contacts`` are."""

    def __init__(self) -> None:
        self._keys: Keys = np.empty(0, dtype=np.int64)
        """The pair of each contact."""
        self._columns = NO_CONTACTS

    def replace(self, renewed: Keys, keys: Keys, columns: ContactColumns) -> None:
        """The contacts of the ``renewed`` pairs are now these."""
        self._keep(~np.isin(self._keys, renewed))
        merged = np.concatenate([self._keys, keys])
        order = np.argsort(merged, kind="stable")
        self._keys = merged[order]
        numbers, segments, normals = self._columns
        more_numbers, more_segments, more_normals = columns
        self._columns = ContactColumns(
            np.concatenate([numbers, more_numbers])[order],
            np.concatenate([segments, more_segments])[order],
            np.concatenate([normals, more_normals])[order],
        )

    def of(self, pairs: Keys) -> Contacts:
        """Those of these pairs, sorted; contacts of all others are forgotten."""
        self._keep(np.isin(self._keys, pairs))
        self._columns[0][:, 0] = np.searchsorted(pairs, self._keys)
        return contacts_of(_taken(self._columns, slice(None)), (len(pairs),))

    def _keep(self, which: Bools) -> None:
        if not which.all():
            self._keys = self._keys[which]
            self._columns = _taken(self._columns, which)


def _taken(columns: ContactColumns, which: Bools | NDArray[np.intp] | slice) -> ContactColumns:
    """A copy of some rows."""
    numbers, segments, normals = columns
    return ContactColumns(numbers[which].copy(), segments[which].copy(), normals[which].copy())
