"""Prices from a file: each with the region, the date and the source that it was read from."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cli.cost.estimate import Line
from cli.cost.price import Price, Product, Unit, Unknown
from cli.errors import OpsError

TABLE = Path(__file__).with_name("prices.json")

# In place of a region: a price that holds in all of them, but for those of China, where nothing is in dollars.
EVERYWHERE = "*"


class Row(BaseModel):
    """A price, where it holds, and who says so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    region: str = Field(pattern=r"^([a-z]{2,4}(-[a-z]+)+-[0-9]|\*)$")
    usage_type: str
    unit: Unit
    usd: Decimal = Field(ge=0)
    date: date
    source: str = Field(min_length=1)

    def is_of(self, product: Product, region: str) -> bool:
        """Tell whether this is a price of the product in the region."""
        here = self.region == region or (self.region == EVERYWHERE and not region.startswith("cn-"))
        return here and self.unit is product.unit and product.is_named(self.usage_type)


class Table(BaseModel):
    """A file of prices."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prices: tuple[Row, ...]

    @model_validator(mode="after")
    def _has_one_price_of_each(self) -> Self:
        """Refuse two prices of one thing: nobody could say which one an estimate is by."""
        counts = Counter((row.region, row.usage_type, row.unit) for row in self.prices)
        if twice := [f"{usage_type} in {region}" for (region, usage_type, _), count in counts.items() if count > 1]:
            raise ValueError(f"two prices of {', '.join(twice)}; keep one of each")
        return self

    def price(self, product: Product, region: str) -> Price | Unknown:
        """The product's price in the region; the newest, where that of all regions is there as well."""
        found = sorted((row for row in self.prices if row.is_of(product, region)), key=lambda row: row.date)
        if not found:
            return Unknown("no source for its price is in the table")
        return Price(found[-1].usd, found[-1].date.isoformat(), found[-1].source)


def read_table(path: Path = TABLE) -> Table:
    """The prices of the file; an OpsError says why it is none."""
    try:
        return Table.model_validate_json(path.read_bytes())
    except OSError as error:
        raise OpsError(f"cannot read {path}: {error.strerror or error}; `--live --save {path}` makes one") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        problem = f"{where}: {said}" if where else said
        raise OpsError(f"{path} is no table of prices: {problem}; `--live --save` makes one") from error


def save_table(path: Path, region: str, lines: Iterable[Line]) -> None:
    """Write the lines' prices into the file, in which those of other regions and products stay."""
    rows = {(row.region, row.usage_type): row for row in (read_table(path).prices if path.exists() else ())}
    for line in lines:
        product, price = line.charge.product, line.price
        if isinstance(product, Product) and isinstance(price, Price):
            rows[region, product.usage_type] = Row(
                region=region,
                usage_type=product.usage_type,
                unit=product.unit,
                usd=price.usd,
                date=date.fromisoformat(price.date),
                source=price.source,
            )
    text = ",\n".join(f"    {row.model_dump_json()}" for row in rows.values())
    try:
        path.write_text(f'{{\n  "prices": [\n{text}\n  ]\n}}\n', encoding="utf-8")
    except OSError as error:
        raise OpsError(f"cannot write {path}: {error.strerror or error}; give another name") from error
