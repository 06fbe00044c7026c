/** Formats a Unix time in seconds for node:fs. A string, as Node.js takes a negative number for the current time. */
export function fileTime(seconds: number): string {
  return String(seconds);
}
