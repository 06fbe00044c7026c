/** Maximum number of connections to a server. Each CLI command opens one for its call, plus one for each log or watch that it follows. */
export const MAX_CONNECTIONS = 1000;
