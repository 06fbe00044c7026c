/** Formats a Unix time in seconds for node:fs. The result is a string, because Node.js treats a negative number as the current time. */
export function fileTime(seconds: number): string {
  return String(seconds);
}
