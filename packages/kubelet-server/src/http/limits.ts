/**
 * Maximum number of connections to a server. Each command opens one for its call, and one for each log or watch that it
 * follows.
 */
export const MAX_CONNECTIONS = 1000;
