/** Runs the tests of `run-output.test.ts` on a node with a Kubernetes API. */
process.env.PODWRIGHT_TEST_API = 'true';
await import('./run-output.test.ts');
