"""Addresses that a response must not lead to: whatever reaches this machine or its networks, in any disguise."""

import pytest

from skillpm.fetchers.common.destinations import is_private_address

PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1"),
    *("::1", "::", "fe80::1", "fc00::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::1"),
]
PUBLIC = ["8.8.8.8", "140.82.112.3", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::", "::ffff:8.8.8.8"]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_of_a_local_networkis_private_address(address: str) -> None:
    assert is_private_address(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_not(address: str) -> None:
    assert not is_private_address(address)
