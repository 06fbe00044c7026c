/** The format of times in metadata: whole seconds. */
export const timestamp = (timeMs: number): string => `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
