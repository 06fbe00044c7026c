/**
 * The largest number whose JSON text is below 2⁶⁴, the limit of OCI's unsigned fields. JavaScript numbers cannot represent 2⁶⁴ − 1
 * (unlimited).
 */
const GREATEST = 18_446_744_073_709_550_000;

/** Converts a 64-bit integer to a number for JSON. */
export const toNumber = (value: bigint): number => Math.min(Number(value), GREATEST);
