/** The life cycle of pods on a runtime without fast paths: the tests of `pod-life-cycle.test.ts`. */
process.env.PODWRIGHT_TEST_FAST_PATHS = 'false';
await import('./pod-life-cycle.test.ts');
