/** Each command has one connection for a call, and one for each log and watch that it follows. */
export const MAX_CONNECTIONS = 1000;
