/** Decodes the octal escapes in a path of a mount table (proc_pid_mountinfo(5)). */
export const unescapeMountPath = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
