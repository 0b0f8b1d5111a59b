import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { Control } from './control.js';

export { Control };

export class KubeError extends Error {
  constructor(message, code = 0) {
    super(message);
    this.name = 'KubeError';
    this.code = code;
  }
}

export function findBinary() {
  if (process.env.FAKEAPI_BINARY) return process.env.FAKEAPI_BINARY;
  const name = process.platform === 'win32' ? 'fakeapi.exe' : 'fakeapi';
  try {
    return createRequire(import.meta.url).resolve(`@kubefake/${process.platform}-${process.arch}/bin/${name}`);
  } catch {} // the package of this platform is not installed
  const found = (process.env.PATH ?? '').split(path.delimiter).map((dir) => path.join(dir, name))
    .find((file) => fs.existsSync(file));
  if (!found) {
    throw new KubeError('there is no command fakeapi: set FAKEAPI_BINARY, or install it with ' +
      'go install github.com/kubefake/kubefake/cmd/fakeapi@latest and put it in PATH');
  }
  return found;
}

/** Sends requests to the control endpoint of the server of a kubeconfig. */
class Connection {
  #url;
  #agent;
  #token;
  #request;

  constructor(url, kubeconfig) {
    const field = (name) => JSON.parse(kubeconfig.match(new RegExp(`^ +${name}: (".*")$`, 'm'))?.[1] ?? '""');
    this.#url = url;
    this.#token = field('token');
    const { Agent, request } = url.startsWith('https:') ? https : http;
    this.#request = request;
    this.#agent = new Agent({ keepAlive: true, ca: Buffer.from(field('certificate-authority-data'), 'base64') });
  }

  async send(method, name, query, body) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(given.flatMap(([key, value]) => [value].flat().map((v) => [key, String(v)])));
    return JSON.parse(await this.read(method, given.length ? `${name}?${search}` : name, 'application/json', body));
  }

  /** Returns the body of the answer to a request. */
  async read(method, name, accept, body) {
    const headers = { accept };
    if (this.#token) headers.authorization = `Bearer ${this.#token}`;
    const data = body === undefined ? undefined : JSON.stringify(body);
    if (data !== undefined) headers['content-type'] = 'application/json';
    const request = this.#request(this.#url + name, { method, headers, agent: this.#agent });
    request.end(data);
    const [response] = await once(request, 'response');
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) text += chunk;
    if (response.statusCode < 400) return text;
    try {
      text = JSON.parse(text).message ?? text;
    } catch {
      // The answer is no Status.
    }
    throw new KubeError(text, response.statusCode);
  }

  close() {
    this.#agent.destroy();
  }
}

/** The clock of a server. */
class Clock {
  #control;

  constructor(control) {
    this.#control = control;
  }

  async now() {
    return new Date((await this.#control.clock()).now);
  }

  async advance(by) {
    await this.#control.advanceClock({ advance: by });
  }
}

/** Injected faults. */
class Injection {
  #control;

  constructor(control, ids) {
    this.#control = control;
    this.ids = ids;
  }

  async hits() {
    const { faults } = await this.#control.listFaults();
    return faults.filter((f) => this.ids.includes(f.fault.id)).reduce((sum, f) => sum + f.hits, 0);
  }

  async remove() {
    await this.#control.removeFaults({ id: this.ids });
  }
}

export class Kube {
  #dir;
  #files = 0;
  #connection;

  constructor(url, kubeconfig, dir) {
    this.#dir = dir;
    this.url = url;
    this.kubeconfig = this.#write('kubeconfig', kubeconfig);
    this.#connection = new Connection(url, kubeconfig);
    this.control = new Control((method, name, query, body) => this.#connection.send(method, name, query, body));
    this.clock = new Clock(this.control);
  }

  async fork() {
    const fork = await this.control.fork();
    return new Fork(this, fork, fs.mkdtempSync(path.join(this.#dir, 'fork')));
  }

  async kubeconfigFor(name, groups = []) {
    return this.#write('kubeconfig', (await this.control.kubeconfig({ name, groups })).kubeconfig);
  }

  store(...objects) {
    return this.control.changeObjects({ store: objects });
  }

  remove(...objects) {
    return this.control.changeObjects({ remove: objects });
  }

  lag(resource, lag) {
    return this.control.lag({ resource, ...lag });
  }

  freeze(resource = '*') {
    return this.lag(resource, { frozen: true });
  }

  thaw(resource = '*') {
    return this.control.endLag({ resource });
  }

  async inject(...faults) {
    const injected = await this.control.injectFaults(faults);
    return new Injection(this.control, injected.faults.map((f) => f.fault.id));
  }

  compact(options = {}) {
    return this.control.compact(options);
  }

  async settle(options = {}) {
    await this.control.settle(options);
  }

  async installWebhooks(options = {}) {
    const w = await this.control.installWebhooks(options);
    return { host: w.host, port: w.port, cert: w.certificate, key: w.key, caBundle: w.caBundle };
  }

  writes() {
    return this.control.writes();
  }

  story() {
    return this.#connection.read('GET', '/debug/fakeapi/story', 'text/plain');
  }

  storyPage() {
    return this.#connection.read('GET', '/debug/fakeapi/story', 'text/html');
  }

  async close() {
    this.#connection.close();
    fs.rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Writes a file that only the user can read, and returns its path. */
  #write(name, text) {
    const file = path.join(this.#dir, `${++this.#files}-${name}`);
    fs.writeFileSync(file, text, { mode: 0o600 });
    return file;
  }
}

class Fork extends Kube {
  #parent;
  #id;

  constructor(parent, { id, url, kubeconfig }, dir) {
    super(url, kubeconfig, dir);
    this.#parent = parent;
    this.#id = id;
  }

  async close() {
    if (this.#id === undefined) return;
    const id = this.#id;
    this.#id = undefined;
    await this.#parent.control.endForks({ id: [id] });
    await super.close();
  }
}

class Server extends Kube {
  #child;
  #atExit;

  constructor(child, url, dir) {
    super(url, fs.readFileSync(path.join(dir, 'kubeconfig'), 'utf8'), dir);
    this.#child = child;
    this.#atExit = () => {
      child.kill();
      fs.rmSync(dir, { recursive: true, force: true });
    };
    process.once('exit', this.#atExit);
  }

  async close() {
    process.off('exit', this.#atExit);
    const child = this.#child;
    if (child.exitCode === null && child.signalCode === null) {
      child.ref();
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    }
    await super.close();
  }
}

export async function start({ flags = [], binary = findBinary() } = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'fakeapi'));
  const messages = path.join(dir, 'stderr');
  const stderr = fs.openSync(messages, 'w');
  try {
    const child = spawn(
      binary,
      ['serve', '--listen', '127.0.0.1:0', '--quiet', '--with-parent', '--delete-at-end', dir,
        '--kubeconfig', path.join(dir, 'kubeconfig'), ...flags],
      { stdio: ['ignore', 'pipe', stderr] },
    );
    let url = '';
    const failed = once(child, 'error').then(([err]) => Promise.reject(new KubeError(`${binary}: ${err.message}`)));
    await Promise.race([failed, (async () => {
      for await (const chunk of child.stdout) {
        url += chunk;
        if (url.endsWith('\n')) break; // which closes the pipe
      }
    })()]);
    if (!url) throw new KubeError(fs.readFileSync(messages, 'utf8').trim() || 'fakeapi serve has ended');
    child.unref(); // the process ends without close
    return new Server(child, url.trim(), dir);
  } catch (err) {
    fs.rmSync(dir, { recursive: true, force: true });
    throw err;
  } finally {
    fs.closeSync(stderr);
  }
}

export function kubeTests({ setup, storyDir = process.env.FAKEAPI_STORIES, ...options } = {}) {
  let starting;
  const started = async () => {
    const server = await start(options);
    await setup?.(server);
    return server;
  };
  return (test) => async (...args) => {
    starting ??= started();
    const kube = await (await starting).fork();
    try {
      return await test(kube, ...args);
    } catch (err) {
      await attachStory(err, kube, storyDir);
      throw err;
    } finally {
      await kube.close();
    }
  };
}

export const withKube = kubeTests();

/** Adds the story of a server to the message of an error. */
async function attachStory(err, kube, storyDir) {
  if (!(err instanceof Error)) return;
  let story;
  try {
    story = await kube.story();
    if (storyDir) {
      fs.mkdirSync(storyDir, { recursive: true });
      const dir = fs.mkdtempSync(path.join(storyDir, 'story-'));
      fs.writeFileSync(path.join(dir, 'story.html'), await kube.storyPage());
      story += `The whole story is in ${path.join(dir, 'story.html')}\n`;
    }
  } catch (e) {
    story = `the server has no story: ${e.message}`;
  }
  const { message, stack } = err;
  err.message = `${message}\n\nfakeapi story\n${story}`;
  err.stack = stack?.replace(message, () => err.message);
}
