// Exports one agent's conversation with an exporter of OpenTelemetry JS.
// Usage: node export.mjs grpc|http|proto ENDPOINT SESSION
import { trace, context } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';

const [protocol, endpoint, session] = process.argv.slice(2);
const exporters = { grpc: GrpcExporter, http: JsonExporter, proto: ProtobufExporter };
const url = protocol === 'grpc' ? `http://${endpoint}` : `${endpoint}/v1/traces`;
const exporter = new exporters[protocol]({ url, compression: protocol === 'proto' ? 'gzip' : 'none' });
const results = [];
const send = exporter.export.bind(exporter);
exporter.export = (spans, done) =>
  send(spans, (result) => { results.push(result.code); done(result); });

const provider = new BasicTracerProvider({
  resource: resourceFromAttributes({ 'carob.session.name': session }),
  spanProcessors: [new BatchSpanProcessor(exporter, { exportTimeoutMillis: 60_000 })],
});
const tracer = provider.getTracer('shop');
const message = (role, content) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
const agent = tracer.startSpan('invoke_agent support', {
  attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'support' },
});
tracer.startSpan('chat', {
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.input.messages': message('user', 'Is it open?'),
    'gen_ai.output.messages': message('assistant', 'Until six.'),
  },
}, trace.setSpan(context.active(), agent)).end();
agent.end();
await provider.forceFlush();
await provider.shutdown();
console.log(JSON.stringify(results));
