export { SpanStore } from './span-store.ts';
export { formatTraceparent, parseTraceparent, TRACEPARENT, type TraceContext } from './trace-context.ts';
export {
  childOf,
  newTrace,
  type Span,
  type SpanSink,
  Tracer,
  type TraceWork,
  type TracingOptions,
  untraced,
} from './tracer.ts';
