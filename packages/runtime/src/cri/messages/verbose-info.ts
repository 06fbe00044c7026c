/** The `info` of a verbose answer: one entry of JSON, as `crictl inspect` shows it; empty unless asked for. */
export function verboseInfo(verbose: boolean, details: () => object, name = 'info'): Record<string, string> {
  return verbose ? { [name]: JSON.stringify(details()) } : {};
}
