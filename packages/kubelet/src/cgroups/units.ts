/** Billionths in the unit that each resource is counted in: thousandths of a core, and pieces or bytes of the others. */
const nanosPerUnit = (name: string) => (name === 'cpu' ? 1_000_000n : 1_000_000_000n);

/** An amount in the unit that the resource is counted in, rounded up. */
export function inUnits(nanos: bigint, name: string): bigint {
  const unit = nanosPerUnit(name);
  return (nanos + unit - 1n) / unit;
}
