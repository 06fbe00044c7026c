/** Connections of a server. Each command opens one for a call, and one for each log and watch that it follows. */
export const MAX_CONNECTIONS = 1000;
