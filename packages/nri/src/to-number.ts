/** The greatest number whose JSON text is below 2⁶⁴, the limit of OCI's unsigned fields. Numbers cannot represent 2⁶⁴ − 1 (unlimited). */
const GREATEST = 18_446_744_073_709_550_000;

/** Converts a 64-bit integer for JSON. */
export const toNumber = (value: bigint): number => Math.min(Number(value), GREATEST);
