/** Billionths per unit of a resource: millicores for `cpu`, pieces or bytes for others. */
const nanosPerUnit = (name: string) => (name === 'cpu' ? 1_000_000n : 1_000_000_000n);

/** The CRI has 64-bit amounts. */
const MAX_INT64 = 2n ** 63n - 1n;

/** An amount in the resource's unit, rounded up and capped at the largest 64-bit integer. */
export function inUnits(nanos: bigint, name: string): bigint {
  const unit = nanosPerUnit(name);
  const units = (nanos + unit - 1n) / unit;
  return units < MAX_INT64 ? units : MAX_INT64;
}
