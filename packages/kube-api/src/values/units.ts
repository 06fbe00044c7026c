/** Billionths in the unit that each resource is counted in: thousandths of a core, and pieces or bytes of the others. */
const nanosPerUnit = (name: string) => (name === 'cpu' ? 1_000_000n : 1_000_000_000n);

/** The CRI has 64 bits for an amount. */
const MAX_INT64 = 2n ** 63n - 1n;

/** An amount in the unit that the resource is counted in, rounded up; a sum that is larger than any amount is the largest one. */
export function inUnits(nanos: bigint, name: string): bigint {
  const unit = nanosPerUnit(name);
  const units = (nanos + unit - 1n) / unit;
  return units < MAX_INT64 ? units : MAX_INT64;
}
