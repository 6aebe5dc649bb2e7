"""Every class that can be saved declares its state, and no declared name shadows a method."""

from __future__ import annotations

from inspect import isfunction

import pytest

from handful.persistence.model_file import Storable
from handful.persistence.schema import Kind
from handful.registry import all_methods

CLASSES = {
    spec.cls.__name__: spec.cls for spec in all_methods() if spec.cls is not None and issubclass(spec.cls, Storable)
}


def test_every_registered_class_of_the_house_can_be_stored():
    outside = [spec.name for spec in all_methods() if spec.cls is not None and not issubclass(spec.cls, Storable)]
    assert outside == [], (
        "derive from handful.persistence.model_file.Storable, and declare STATE = stored(...) in the class"
    )


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_state_is_declared(name):
    declared = CLASSES[name].declared_state()
    own = [attribute for attribute in declared if attribute not in Storable.STATE]
    assert own, (
        f"{name} declares nothing. Write in the class: STATE = stored(classes_=Names('k'), ...), one entry for each fitted "
        "attribute; handful.save(model, path) of a fitted model names them. "
        "See handful.persistence.schema."
    )
    assert all(isinstance(kind, Kind) for kind in declared.values())


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_no_attribute_shadows_a_method(name):
    cls = CLASSES[name]
    shadowed = [attribute for attribute in cls.declared_state() if isfunction(getattr(cls, attribute, None))]
    assert shadowed == []
