"""Rules for passwords (NIST SP 800-63B): long, not one that attackers try first, not about the owner. There are no
other rules.

There is no rule about kinds of characters and no forced change, since both lead to worse passwords. Passwords are not
truncated. A password is normalised (NFKC) when it is set and when it is checked: keyboards write the same character
differently.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from django.contrib.auth.password_validation import (
    CommonPasswordValidator,
    MinimumLengthValidator,
    validate_password,
)
from django.core.exceptions import ValidationError

from controlplane.accounts.models import User
from controlplane.core.errors import FieldError, Invalid

LONGEST_PASSWORD = 256
OTHER_CHARACTERS = 8
SHORTEST_WORD = 3
PRODUCT = ("fastquerycache", "fast", "query", "cache", "fqc")


def normal_password(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def checked_password(password: str, user: User, field: str = "password") -> str:
    """Returns the password in normal form, for hashing.

    Raises Invalid for `field`, with what to do, if the password is not good enough for this user.
    """
    password = normal_password(password)
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(
            f"{field}: {' '.join(error.messages)}",
            errors=[FieldError(field, str(each.code), " ".join(each.messages)) for each in error.error_list],
        ) from error
    return password


class LengthValidator(MinimumLengthValidator):
    def get_error_message(self) -> str:
        return f"Use at least {self.min_length} characters, for instance a phrase of several words."


class CommonValidator(CommonPasswordValidator):
    def get_error_message(self) -> str:
        return "This password is one of the most common ones: choose another one."


class BlankValidator:
    def validate(self, password: str, user: Any = None) -> None:
        if not any(each.isprintable() and not each.isspace() for each in password):
            raise ValidationError("Use visible characters, not only spaces.", code="password_blank")


class OwnNamesValidator:
    """Refuses a password that is made of the owner's names and the product's: without those, at least OTHER_CHARACTERS
    letters and digits must be left.
    """

    def validate(self, password: str, user: Any = None) -> None:
        rest = re.sub(r"[\W_]", "", password.casefold())
        found = False
        for word in sorted(_names(user), key=len, reverse=True):
            found = found or word in rest
            rest = rest.replace(word, "")
        if found and len(rest) < OTHER_CHARACTERS:
            raise ValidationError(
                f"Use at least {OTHER_CHARACTERS} letters or digits besides the user name, the e-mail address and this "
                "product's name.",
                code="password_of_names",
            )


def _names(user: Any) -> set[str]:
    told = [] if user is None else [user.username, user.email]
    words = {word for text in told for word in (re.sub(r"[\W_]", "", text), *re.split(r"[\W_]+", text))}
    return {word.casefold() for word in words if len(word) >= SHORTEST_WORD} | set(PRODUCT)
