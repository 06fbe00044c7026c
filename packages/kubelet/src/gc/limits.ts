export const LEAST_LOG_LOOK_MS = 2;
export const MOST_LOG_LOOK_MS = 1000;
