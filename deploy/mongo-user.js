// Runs once, when the data volume is empty: the service's user may read and write its database only.
const password = require("fs").readFileSync("/run/secrets/mongo_password", "utf8").trim();
if (!password) {
  throw new Error("the secret mongo_password is empty");
}
db.getSiblingDB("crawl").createUser({
  user: "crawl",
  pwd: password,
  roles: [{ role: "readWrite", db: "crawl" }],
});
