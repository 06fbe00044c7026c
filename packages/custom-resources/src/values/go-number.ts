/** Formats a number as Go's `%v` formats a float64, such as `1e+06` for a million, or an int64 if `isInteger`. */
export function goNumber(value: number, isInteger: boolean): string {
  if (isInteger && Number.isInteger(value)) return String(value);
  const [mantissa = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
