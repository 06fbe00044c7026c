export { type CommandResult, startTestNode, TestNode, type TestNodeOptions } from './test-node.ts';
