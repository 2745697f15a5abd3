/**
 * Whether a model server runs on this machine at one of the usual ports: tests of an mm without any
 * configuration would find it.
 *
 * @module
 */
import { connect } from "node:net";

/** llama.cpp, Ollama, LM Studio, vLLM. */
const PORTS = [8080, 11434, 1234, 8000];

/** Returns the usual ports at which something listens. */
export async function busyUsualPorts(): Promise<number[]> {
  const busy = await Promise.all(PORTS.map(async (port) => await listens(port) ? [port] : []));
  return busy.flat();
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.setTimeout(1000);
    const end = (found: boolean) => {
      socket.destroy();
      resolve(found);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}
