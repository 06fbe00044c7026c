/** Runs the tests of `objects.test.ts` on a node with a Kubernetes API. */
process.env.PODWRIGHT_TEST_API = 'true';
await import('./objects.test.ts');
