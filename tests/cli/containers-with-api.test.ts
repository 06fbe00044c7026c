/** Runs the tests of `containers.test.ts` on a node with a Kubernetes API. */
process.env.PODWRIGHT_TEST_API = 'true';
await import('./containers.test.ts');
