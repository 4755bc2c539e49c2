// Answers queries with DuckDB: a line of JSON {"sql": …} is answered by a line
// {"columns": […], "rows": [[…]…]} or {"error": …}. Whole numbers that JSON would round are texts.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const { DuckDBInstance } = createRequire(process.argv[2] + '/')('@duckdb/node-api')
const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '1GB' })
const connection = await instance.connect()
for await (const line of createInterface({ input: process.stdin })) {
  let answer
  try {
    const r = await connection.runAndReadAll(JSON.parse(line).sql)
    answer = { columns: r.columnNames(), rows: r.getRowsJson() }
  } catch (e) {
    answer = { error: e.message }
  }
  process.stdout.write(JSON.stringify(answer) + '\n')
}
