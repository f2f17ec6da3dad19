"""A video of a scenario played for real: dash.js in a browser, over HTTP/3, through the network of the scenario."""
