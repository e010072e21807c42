// Loads a trace file by Perfetto's own trace processor, as its user interface has it in a worker, and prints what queries find in it,
// as JSON: an array of rows for each. Words: the directory of `engine_bundle.js`, the file, and the queries.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [directory, file, ...queries] = process.argv.slice(2);

// What the protocol calls its requests (protos/perfetto/trace_processor/trace_processor.proto).
const APPEND = 1, FINISH = 2, QUERY = 3;
const FIELD = { rpc: 1, sequence: 1, request: 2, fatal: 5, data: 101, sql: 103, appended: 201, rows: 203 };

// Protocol buffers: what a field is written as, and the fields of a message.
const varint = (number) => {
    const bytes = [];
    for (; number > 127; number = Math.floor(number / 128)) bytes.push(number % 128 | 128);
    return [...bytes, number];
};
const number = (field, value) => Buffer.from([...varint(field * 8), ...varint(value)]);
const bytes = (field, value) => Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(value.length)]), value]);
const reader = (buffer) => {
    let at = 0;
    const integer = () => {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
            const byte = buffer[at++];
            value |= BigInt(byte & 127) << shift;
            if (byte < 128) return BigInt.asIntN(64, value);
        }
    };
    const take = (length) => buffer.subarray(at, at += length);
    return { integer, take, isLeft: () => at < buffer.length };
};
function* fields(buffer) {
    const { integer, take, isLeft } = reader(buffer);
    while (isLeft()) {
        const key = Number(integer());
        const kind = key & 7;
        yield [key >> 3, kind === 0 ? integer() : take(kind === 2 ? Number(integer()) : kind === 1 ? 8 : 4)];
    }
}
const integers = (buffer) => {
    const { integer, isLeft } = reader(buffer);
    const all = [];
    while (isLeft()) all.push(Number(integer()));
    return all;
};
const doubles = (buffer) => Array.from({ length: buffer.length / 8 }, (_, index) => buffer.readDoubleLE(8 * index));

// The rows of a result, each an object.
class Rows {
    constructor() {
        this.names = [];
        this.cells = [];
        this.isLast = false;
    }
    take(result) {
        for (const [field, value] of fields(result)) {
            if (field === 1) this.names.push(value.toString());
            if (field === 2 && value.length > 0) throw new Error(value.toString());
            if (field === 3) this.batch(value);
        }
    }
    batch(batch) {
        let kinds = [];
        const [integral, real, texts] = [[], [], []];
        for (const [field, value] of fields(batch)) {
            if (field === 1) kinds.push(...integers(value));
            if (field === 2) integral.push(...integers(value));
            if (field === 3) real.push(...doubles(value));
            if (field === 5) texts.push(...value.toString().split("\0"));
            if (field === 6) this.isLast = value !== 0n;
        }
        this.cells.push(...kinds.map((kind) => [undefined, () => null, () => integral.shift(), () => real.shift(), () => texts.shift()][kind]()));
    }
    all() {
        const rows = [];
        for (let at = 0; at < this.cells.length; at += this.names.length) {
            rows.push(Object.fromEntries(this.names.map((name, column) => [name, this.cells[at + column]])));
        }
        return rows;
    }
}

// A worker without a browser.
const errors = [];
const worker = {
    location: { href: "http://perfetto/engine_bundle.js", protocol: "http:", host: "perfetto" },
    WorkerGlobalScope: Object,
    console: { ...console, log: () => {}, error: (...words) => errors.push(words.join(" ")) },
    XMLHttpRequest: class {
        open(_, url) { this.url = url; }
        send() { this.response = new Uint8Array(fs.readFileSync(path.join(directory, path.basename(this.url)))).buffer; }
    },
    addEventListener: () => {},
    URL, TextDecoder, TextEncoder, performance, setTimeout, clearTimeout,
};
worker.self = worker;
const answers = [];
let wake = () => {};
const port = { postMessage: (answer) => { answers.push(Buffer.from(answer)); wake(); } };
vm.createContext(worker);

let received = Buffer.alloc(0);
// The next answer.
async function answer() {
    for (;;) {
        if (received.length > 0) {
            const { integer, take } = reader(received);
            integer();
            const message = take(Number(integer()));
            received = received.subarray(message.byteOffset - received.byteOffset + message.length);
            return Object.fromEntries(fields(message));
        }
        while (answers.length === 0) await new Promise((resolve) => { wake = resolve; });
        received = Buffer.concat(answers.splice(0));
    }
}
let sequence = 0;
function ask(request, ...args) {
    const message = Buffer.concat([number(FIELD.sequence, ++sequence), number(FIELD.request, request), ...args]);
    const stream = bytes(FIELD.rpc, message);
    port.onmessage({ data: new worker.Uint8Array(stream) });
}
async function answered() {
    const message = await answer();
    if (message[FIELD.fatal]) throw new Error(message[FIELD.fatal].toString());
    return message;
}

async function main() {
    worker.Uint8Array = vm.runInContext("Uint8Array", worker);
    vm.runInContext(fs.readFileSync(path.join(directory, "engine_bundle.js"), "utf8"), worker);
    worker.onmessage({ data: port });
    // It is ready when it has come to what it does next.
    await new Promise(setImmediate);
    ask(APPEND, bytes(FIELD.data, fs.readFileSync(file)));
    for (const [field, value] of fields((await answered())[FIELD.appended] ?? Buffer.alloc(0))) {
        if (field === 2 && value.length > 0) throw new Error(value.toString());
    }
    ask(FINISH);
    await answered();
    const all = [];
    for (const query of queries) {
        ask(QUERY, bytes(FIELD.sql, bytes(1, Buffer.from(query))));
        const rows = new Rows();
        while (!rows.isLast) rows.take((await answered())[FIELD.rows]);
        all.push(rows.all());
    }
    console.log(JSON.stringify(all));
}

main().catch((error) => {
    console.error(`${error.message ?? error}${errors.map((line) => `\n${line}`).join("")}`);
    process.exitCode = 1;
});
