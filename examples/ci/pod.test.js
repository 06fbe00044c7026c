/** A test that runs a pod on a node of its own. Run it as root: node --test pod.test.js */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestNode } from '@podwright/testing';

test('the application answers in its pod', async () => {
  await using node = await startTestNode();
  await node.podwright('load', 'app.tar'); // the image that the job has built
  await node.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'app' },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'localhost/podwright/busybox:1',
          command: ['sh', '-c', 'echo hello > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'],
          readinessProbe: { httpGet: { path: '/index.html', port: 8080 }, periodSeconds: 1 },
        },
      ],
    },
  });
  assert.equal(await node.exec('app', 'wget', '-qO-', 'http://127.0.0.1:8080/index.html'), 'hello\n');
});
