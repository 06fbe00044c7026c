/** Runs the tests of `pod-life-cycle.test.ts` on a runtime without fast paths. */
process.env.PODWRIGHT_TEST_FAST_PATHS = 'false';
await import('./pod-life-cycle.test.ts');
