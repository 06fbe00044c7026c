/** A time for node:fs, in seconds since 1970. As a text, because Node takes a negative number for the present time. */
export function fileTime(seconds: number): string {
  return String(seconds);
}
