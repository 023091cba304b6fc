"""The messages of simulated device plugins."""

from local_aws.nodes.image.kubernetes import device_plugin


def test_every_device_has_a_name_of_its_own_and_is_healthy() -> None:
    listed = [dict(device_plugin.fields(device)) for _, device in device_plugin.fields(device_plugin.devices("gpu", 200))]
    assert len({device[1] for device in listed}) == 200
    assert {device[2] for device in listed} == {b"Healthy"}


def test_each_container_gets_the_names_of_its_own_devices() -> None:
    asked = [(b"gpu-1", b"gpu-7"), (b"x" * 300,)]
    request = b"".join(device_plugin.field(1, b"".join(device_plugin.field(1, name) for name in names)) for names in asked)
    answers = [dict(device_plugin.fields(container)) for _, container in device_plugin.fields(device_plugin.allocation(request))]
    variables = [dict(device_plugin.fields(answer[1])) for answer in answers]
    assert [each[1] for each in variables] == [b"SIMULATED_DEVICES"] * 2
    assert [each[2] for each in variables] == [b"gpu-1,gpu-7", b"x" * 300]
