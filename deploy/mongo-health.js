// Healthy when the service's user can log in. Asked by the container's name, not by 127.0.0.1, where
// the server listens while it is being set up.
const password = require("fs").readFileSync("/run/secrets/mongo_password", "utf8").trim();
db.getSiblingDB("crawl").auth("crawl", password);
quit(db.getSiblingDB("crawl").runCommand({ ping: 1 }).ok ? 0 : 1);
