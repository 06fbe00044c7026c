/** Returns the longest time (ms) that the event loop was blocked while `work` ran; a stall like this delays probes. */
export async function longestStallMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let lastMs = performance.now();
  const look = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - lastMs);
    lastMs = now;
  };
  const timer = setInterval(look, 2);
  try {
    await work();
  } finally {
    look();
    clearInterval(timer);
  }
  return longestMs;
}
